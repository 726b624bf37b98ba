/** Which of its two worlds a client of `/v1` belongs to; data never crosses from one to the other. */
export type ApiEnv = 'SANDBOX' | 'PRODUCTION'
