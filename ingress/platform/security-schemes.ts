/** The security schemes of `/v1`, by the names that its routes use. */
export const platformSecuritySchemes: Readonly<Record<string, object>> = {}
