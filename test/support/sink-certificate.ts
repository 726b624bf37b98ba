/**
 * A throw-away certificate for the name `sink.test`, valid for a century, trusted only by the tests that pass it as a
 * certificate authority. Nothing is protected by its key.
 */
export const sinkCertificate = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUZUyzPHCbWp0i8SawJe4K4rW4wugwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJc2luay50ZXN0MCAXDTI2MTEyMTEzMjYzM1oYDzIxMjYxMDI4
MTMyNjMzWjAUMRIwEAYDVQQDDAlzaW5rLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATLzjgQFoL2340On1rQMMHSQH3ViiRCaH660wbVAPMhIITdHm8BYydO
0eTq43TiZaRjk9VK/moQnpQ8qGYghLYFo2kwZzAdBgNVHQ4EFgQU1QWllG5LPpq/
j+ketyzgka1ANQMwHwYDVR0jBBgwFoAU1QWllG5LPpq/j+ketyzgka1ANQMwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglzaW5rLnRlc3QwCgYIKoZIzj0EAwID
SAAwRQIgUjpB5e4eq89esWp7/K1zlcFsYGsw4xqhmx56ciYYGokCIQDfGL0KfvfD
F9VUu+WiqnHgMs3x80VsN4qQVLewiR3etA==
-----END CERTIFICATE-----
`

/** The key of `sinkCertificate`. */
export const sinkKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7lSNjmdFGyGEhtmx
d2P2Hze5RJ+vE+oHSL8XKJxlSz6hRANCAATLzjgQFoL2340On1rQMMHSQH3ViiRC
aH660wbVAPMhIITdHm8BYydO0eTq43TiZaRjk9VK/moQnpQ8qGYghLYF
-----END PRIVATE KEY-----
`
