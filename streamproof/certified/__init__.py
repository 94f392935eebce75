"""What a certificate is about: the sources on disk, what is loaded of them, and the file's seal.

Both who writes certificates and who asks for them work with this room, so it knows neither Spark
nor the engines.
"""
