import test from 'ava'
import { addressesToDo } from '#shared/monitoring/move-in/addresses.ts'

const here = 'https://signals.example'
const uuid = '7b1c0d4e-0000-4000-8000-000000000001'

test('the plan states how the pings of the jobs reach this service', (t) => {
  const toDo = (pingUrl: string, isChanged = false, publicUrl = here) =>
    addressesToDo({ pingUrls: [pingUrl, pingUrl], changed: isChanged ? [pingUrl] : [] }, publicUrl)
  const record = 'to move the jobs without changing them, point the DNS record of hc.example.org to this server'
  t.deepEqual(toDo(`${here}/ping/${uuid}`), [])
  t.deepEqual(toDo(`https://hc.example.org/ping/${uuid}`), [`${record} (signals.example)`])
  t.deepEqual(toDo(`http://hc.example.org:8600/ping/${uuid}`), [
    `${record} (signals.example), and forward port 8600 to it`,
  ])
  t.deepEqual(toDo(`https://hc-ping.com/${uuid}`, true), [
    `change the ping addresses of the jobs from hc-ping.com to ${here}/ping/<uuid>`,
  ])
  t.deepEqual(toDo(`http://127.0.0.1:8600/ping/${uuid}`, false, 'http://localhost:8080'), [
    'change the ping addresses of the jobs from 127.0.0.1:8600 to http://localhost:8080/ping/<uuid>',
    'set PUBLIC_URL: its value is http://localhost:8080, and jobs on other machines cannot reach that address',
  ])
  t.deepEqual(toDo(`http://[2001:db8::1]/ping/${uuid}`), [
    `change the ping addresses of the jobs from [2001:db8::1] to ${here}/ping/<uuid>`,
  ])
})

test('proxy rules are complete lines of the configuration, for own names only', (t) => {
  const [first, nginx, caddy, ...more] = addressesToDo(
    {
      pingUrls: [`https://hc.example.org/p/${uuid}`],
      changed: [`https://hc-ping.com/${uuid}`, `https://hc.example.org/p/${uuid}`],
    },
    `${here}/base`,
  )
  t.regex(first ?? '', /if you control DNS and TLS of hc\.example\.org, add one of these proxy rules there/)
  t.is(nginx, `nginx: location /p/ { proxy_pass ${here}/base/ping/; }`)
  t.deepEqual(caddy?.split('\n'), [
    'Caddy:',
    'handle_path /p/* {',
    '  rewrite * /base/ping{uri}',
    `  reverse_proxy ${here} {`,
    '    header_up Host {upstream_hostport}',
    '  }',
    '}',
  ])
  t.deepEqual(more, [])
})
