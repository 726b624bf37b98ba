/** The security schemes of `/v1`, by the names that its routes use. */
export const platformSecuritySchemes: Readonly<Record<string, object>> = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token of `POST /v1/oauth/token` that carries the scope which `security` of the operation names.',
  },
  agentKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An agent key (`rsk_…`), or an access token that was asked for with `resource=<address>/mcp`.',
  },
  consumerKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The key of a securitisation-evidence consumer.',
  },
}
