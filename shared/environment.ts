/** The environment of a client of `/v1`; data never crosses between the two. */
export type ApiEnv = 'SANDBOX' | 'PRODUCTION'
