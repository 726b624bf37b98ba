import { platformSecuritySchemes } from './api-risk/security-schemes.ts'

/** How callers may prove who they are; routes name these. */
export const securitySchemes: Readonly<Record<string, object>> = {
  projectKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description:
      "A project's read-write key. POST requests with a JSON body may carry it as the body's member `api_key` instead.",
  },
  projectKeyReadOnly: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: "A project's read-only key.",
  },
  projectBearer: { type: 'http', scheme: 'bearer', description: "A project's read-only key." },
  ...platformSecuritySchemes,
}
