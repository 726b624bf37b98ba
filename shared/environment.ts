/** Data never crosses between the two. */
export type ApiEnv = 'SANDBOX' | 'PRODUCTION'
