import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrateAndSecure } from '#shared/platform/database/migrate.ts'
import { loadConfig } from '#shared/platform/process/config.ts'
import { completedEnv, formatEnvFile, readEnvFile } from '#shared/platform/process/local-env.ts'
import { awaitListeners } from './await-listeners.ts'
import { composeServices } from './compose-services.ts'
import { adminWith, ensureCredentials, introduction, isKeyKnown, type RunAdmin, setupLink } from './credentials.ts'
import { databaseLogins } from './database-admin.ts'
import { ownNames } from './installation-names.ts'
import { localBinaries } from './local-binaries.ts'
import { postgresRefusal } from './probe.ts'
import { resolveServices, type Services } from './resolve-services.ts'
import { mustRun } from './run-command.ts'
import { readState, type StackState, serverFolder, writePrivately, writeState } from './service-state.ts'
import { knownSettings, orderOfOrigins, stackSettings } from './stack-settings.ts'
import { mailPorts, startProcesses } from './start-processes.ts'

/** The product as it runs. */
interface Started {
  settings: Readonly<Record<string, string>>
  admin: RunAdmin
  /** on this machine */
  address: string
  /** in links */
  url: string
  /** absent if a mail server sends the mail */
  mailPage: string | undefined
}

/** `make up`: starts everything and prints the next steps. @throws as `start` */
export async function up(env: NodeJS.ProcessEnv, folder: string, say: (line: string) => void): Promise<void> {
  const started = await start(env, folder, say)
  const { project } = await ensureCredentials(folder, started.admin, started.address)
  const link = await setupLink(started.admin)
  say(introduction(started.url, { open: link ?? started.url, pingKey: project.pingKey, mailPage: started.mailPage }))
}

/**
 * Starts as `start`, with all settings of the last start that the environment does not name.
 * @throws as `start`
 */
export async function startAgain(
  env: NodeJS.ProcessEnv,
  folder: string,
  say: (line: string) => void,
): Promise<Started> {
  return await start(completedEnv(env, readEnvFile(join(folder, GIVEN))), folder, say)
}

/** File of the settings of the last start as they were given, without defaults and found services. */
const GIVEN = 'given.env'

/**
 * Finds services, migrates, and starts processes that do not run or have other settings. Idempotent.
 * @param env settings of the processes; they override stored ones
 * @throws Error with one line, or the end of the log of a failed process
 */
async function start(env: NodeJS.ProcessEnv, folder: string, say: (line: string) => void): Promise<Started> {
  const state = readState(folder)
  const save = () => writeState(folder, state)
  const secrets = join(folder, 'secrets')
  await mustRun(['sh', join(import.meta.dirname, 'secrets.sh'), secrets])

  const services = await findServices(env, folder, state, say)
  remember(state, services)
  save()
  const previous = readEnvFile(join(folder, 'env'))
  const addresses = await ownNames(services, previous)
  const settings: Record<string, string> = {
    ...stackSettings(env, previous, readFileSync(join(secrets, 'secret_key'), 'utf8')),
    ...addresses,
    ...databaseLogins(
      { url: addresses.DATABASE_URL, origin: services.postgres.origin },
      { url: settingOf(env, 'DATABASE_URL'), ownerUrl: settingOf(env, 'DATABASE_OWNER_URL') },
      readFileSync(join(secrets, 'database_login_password'), 'utf8'),
    ),
  }
  state.mail = settings.SMTP_URL || settings.SMTP_URL_FILE ? undefined : await mailPorts(state)
  if (state.mail) settings.SMTP_URL = `smtp://127.0.0.1:${state.mail.smtp}`
  const config = loadConfig(settings) // reports an invalid setting before anything is started
  say('migrating the database')
  const { databaseUrl, databaseOwnerUrl } = config
  const { warning } = await migrateAndSecure({ databaseUrl, databaseOwnerUrl })
  if (warning !== undefined) {
    say(warning)
    if (databaseOwnerUrl !== undefined && (await postgresRefusal(databaseUrl))) {
      settings.DATABASE_URL = databaseOwnerUrl
      delete settings.DATABASE_OWNER_URL
    }
  }
  writePrivately(join(folder, 'env'), formatEnvFile(settings))
  writePrivately(join(folder, GIVEN), formatEnvFile(knownSettings(env)))
  await startProcesses({ settings, folder, state, save, say })
  await awaitListeners(settings.DATABASE_URL ?? databaseUrl, say)
  const address = `http://localhost:${settings.PORT}`
  if (state.demo && !(await isKeyKnown(address, state.demo.apiKey))) {
    delete state.demo
    save()
  }
  const mailPage = state.mail && `http://localhost:${state.mail.http}`
  return { settings, admin: adminWith(settings), address, url: settings.PUBLIC_URL ?? address, mailPage }
}

async function findServices(
  env: NodeJS.ProcessEnv,
  folder: string,
  { postgres, broker }: StackState,
  say: (line: string) => void,
): Promise<Services> {
  return await resolveServices({
    databaseUrl: settingOf(env, 'DATABASE_OWNER_URL') ?? settingOf(env, 'DATABASE_URL'),
    amqpUrl: settingOf(env, 'AMQP_URL'),
    docker: composeServices(join(folder, 'secrets'), say),
    binaries: localBinaries({
      folder: await serverFolder(folder),
      ports: { postgres: ownPort(postgres), rabbitmq: ownPort(broker) },
      running: { postgres: postgres?.process, rabbitmq: broker?.process },
      report: say,
    }),
    order: {
      postgres: orderOfOrigins(env.STACK_SERVICES, postgres?.origin),
      rabbitmq: orderOfOrigins(env.STACK_SERVICES, broker?.origin),
    },
    report: say,
  })
}

function remember(state: StackState, { postgres, broker }: Services): void {
  const entry = ({ origin, url, process }: Services['postgres']) => ({
    origin,
    process,
    port: Number(new URL(url).port),
  })
  state.postgres = entry(postgres)
  state.broker = entry(broker)
}

function ownPort(service: StackState['postgres']): number | undefined {
  return service?.origin === 'binaries' ? service.port : undefined
}

function settingOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const file = env[`${name}_FILE`]
  return file ? readFileSync(file, 'utf8').trimEnd() : env[name] || undefined
}
