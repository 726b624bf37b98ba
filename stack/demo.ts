import { ensureCredentials, setupLink } from './credentials.ts'
import { readState, writeState } from './service-state.ts'
import { startProcesses } from './start-processes.ts'
import { startAgain } from './up.ts'

/**
 * `make demo`: starts the product, creates a project with sample data and starts a process that pings its checks.
 * Later calls of `make up` start that process again while the project exists.
 * @throws as `up`
 */
export async function demo(env: NodeJS.ProcessEnv, folder: string, say: (line: string) => void): Promise<void> {
  const started = await startAgain(env, folder, say)
  // Otherwise a later `make up` would create an organisation that the first owner does not get.
  await ensureCredentials(folder, started.admin, started.address)
  const state = readState(folder)
  if (!state.demo) {
    say('creating 60 checks with 90 days of history')
    state.demo = JSON.parse(await started.admin(['demo', '--json']))
    const save = () => writeState(folder, state)
    save()
    await startProcesses({ settings: started.settings, folder, state, save, say })
    save()
  }
  const page = `${started.url}/projects/${state.demo?.projectId}/checks`
  const link = await setupLink(started.admin)
  say(`
The demo is alive: every job pings, one fails twice an hour, six are down.

${link === undefined ? '' : `  Sign up first   ${link}\n`}  Open this link  ${page}
${started.mailPage === undefined ? '' : `  Read mail here  ${started.mailPage}\n`}
make down stops it. To remove it, delete the project in its settings.
`)
}
