import test from 'ava'
import { agentName } from '../../../ingress/web/account/session-list.tsx'

for (const [agent, name] of [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0', 'Firefox on Linux'],
  ['Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36 Edg/130.0', 'Edge on Windows'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18 Safari/604', 'Safari on iPhone'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', 'Unknown browser'],
] as const)
  test(`the agent ${JSON.stringify(agent.slice(0, 40))} is called ${name}`, (t) => {
    t.is(agentName(agent), name)
  })
