import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensureCredentials } from './credentials.ts'
import { startAgain } from './up.ts'

const root = resolve(import.meta.dirname, '..')

const PACK =
  '{"mode":"DEMO","buyerGstin":"27AAACB1234C1ZF","borrowerGstin":"29AAACR5678D1Z5","subcontractorGstin":"24AAFFS4321K1ZA","poValue":2500000}'

/** `make try`: requests a risk signals pack and verifies it offline, and prints each command before its output. */
export async function tryPacks(env: NodeJS.ProcessEnv, folder: string, say: (line: string) => void): Promise<void> {
  const { address, admin } = await startAgain(env, folder, say)
  const { client } = await ensureCredentials(folder, admin, address)
  const output = join(folder, 'try')
  mkdirSync(output, { recursive: true })
  const child = spawn('bash', ['--norc', '-e', '-o', 'pipefail', '-c', tryScript(address, output)], {
    cwd: root,
    env: { ...process.env, CLIENT_ID: client.clientId, CLIENT_SECRET: client.clientSecret },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the last command above failed with exit status ${code}`)
  say(`\nThe pack and its proof are in ${output}. See docs/risk-signals.md.`)
}

/** The script expects CLIENT_ID and CLIENT_SECRET. @param output folder of the files that it writes */
export function tryScript(address: string, output: string): string {
  const [pack, proof] = [`${output}/pack.json`, `${output}/proof.json`]
  const steps = [
    [
      'Get a token',
      `TOKEN=$(curl -s ${address}/v1/oauth/token -d grant_type=client_credentials -d client_id=$CLIENT_ID -d client_secret=$CLIENT_SECRET | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    ],
    [
      'Request a risk signals pack',
      `curl -s ${address}/v1/po/risk-signals -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H "x-idempotency-key: try-$(date +%s%N)" -d '${PACK}' >${pack}`,
    ],
    [
      'Wait until its hash is in the transparency log',
      `TX=$(sed 's/.*"txId":"\\([0-9a-f]*\\)".*/\\1/' ${pack})\nfor second in $(seq 60); do curl -sf -o ${proof} ${address}/v1/anchors/$TX && ! grep -q PENDING ${proof} && break; sleep 1; done`,
    ],
    [
      'Verify the pack on this machine',
      `npm run -s verify -- ${pack} --proof ${proof} --key "$(curl -s ${address}/v1/transparency/sandbox/log-key)"`,
    ],
  ] as const
  return steps.map(([title, command]) => `cat <<'SHOWN'\n\n# ${title}\n${command}\nSHOWN\n${command}\n`).join('')
}
