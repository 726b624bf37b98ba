import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { send } from '../../support/send.ts'

export interface Issuer extends AsyncDisposable {
  url: string
  /** the next person that signs in, with the claims of the issuer */
  person: { sub: string; email: string; email_verified: boolean }
  /** sets the only redirect address of its client */
  start(redirectUri: string): void
  /** signs in on its pages with a separate browser; returns the path that it redirects to */
  signIn(location: string): Promise<string>
}

/** Opens a certified OpenID provider that has our application as its client and signs in `person` without a form. */
export async function openIssuer(): Promise<Issuer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A TCP server always has an AddressInfo.
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const issuer: Issuer = {
    url,
    person: { sub: 'subject-1', email: 'ada@example.com', email_verified: true },
    start,
    signIn: (location) => throughIssuer(url, location),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
  return issuer

  function start(redirectUri: string): void {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: 'signalbox',
          client_secret: 'a secret of the client',
          redirect_uris: [redirectUri],
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      features: { devInteractions: { enabled: false } },
      cookies: { keys: ['cookie key of the test'] },
      interactions: { url: (_context: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({
          sub: id,
          email: issuer.person.email,
          email_verified: issuer.person.email_verified,
          name: 'Ada',
        }),
      }),
    })
    const answer = provider.callback()
    server.on('request', (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return answer(request, response)
      interact().catch(() => response.destroy())

      async function interact(): Promise<void> {
        const { params, prompt } = await provider.interactionDetails(request, response)
        if (prompt.name === 'login') {
          await provider.interactionFinished(request, response, { login: { accountId: issuer.person.sub } })
          return
        }
        const grant = new provider.Grant({ accountId: issuer.person.sub, clientId: String(params.client_id) })
        grant.addOIDCScope(String(params.scope))
        await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
      }
    })
  }
}

async function throughIssuer(url: string, location: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next = location
  for (let step = 0; step < 10; step++) {
    const { origin, pathname, search } = new URL(next, url)
    if (origin !== url) return pathname + search
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await send(url, pathname + search, { headers: { cookie } })
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s)
      cookies.set(name, value)
    }
    next = answer.headers.location ?? ''
  }
  throw new Error('the issuer does not redirect back')
}
