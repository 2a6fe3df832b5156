"""Certificates for tests, made by openssl."""
import os
import subprocess


def make_certificate(folder, name, authority=None, extension=None):
    """Makes NAME.pem and NAME-key.pem in `folder`, signed by itself or by
    AUTHORITY.pem there. Returns the certificate's path."""
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
             f"/CN={name}", "-keyout", f"{name}-key.pem", "-out",
             f"{name}.pem"]
    if authority:
        words += ["-CA", f"{authority}.pem", "-CAkey", f"{authority}-key.pem"]
    if extension:
        words += ["-addext", extension]
    subprocess.run(words, check=True, capture_output=True, cwd=folder)
    return os.path.join(folder, f"{name}.pem")
