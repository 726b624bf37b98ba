import { CodedError } from '#shared/errors.ts'
import { CommandLineError, parseOptions } from '#shared/platform/process/command-line.ts'
import { productVersion } from '#shared/platform/process/version.ts'
import { type AdminContext, type Command, type OfflineCommand, type Options, UsageError } from './command.ts'
import { expectedFailure } from './expected-failure.ts'

export interface Outcome {
  /** 0 done, 1 failed or found a problem, 2 invalid usage, 3 found conflicts */
  status: 0 | 1 | 2 | 3
  stdout: string
  stderr: string
}

type AnyCommand = Command | OfflineCommand

/**
 * Runs one command line. `open` creates its resources after the command line was parsed.
 * @param args arguments after `admin`
 */
export async function runAdmin(
  args: readonly string[],
  commands: readonly AnyCommand[],
  open: () => Promise<AdminContext & AsyncDisposable>,
): Promise<Outcome> {
  try {
    if (args.length === 1 && args[0] === '--version') return { status: 0, stdout: `${productVersion()}\n`, stderr: '' }
    if (args[0] === 'help') return await runAdmin([...args.slice(1), '--help'], commands, open)
    const words = args.filter((arg, index) => index < 2 && !arg.startsWith('-'))
    const matching = commands.filter(({ noun }) => noun === words[0])
    const command = matching.find(({ verb }) => verb === undefined || verb === words[1])
    if (!command) {
      const help = matching.length > 0 ? overviewOfNoun(matching) : overview(commands)
      if (args.length === 0 || args.includes('--help') || args.includes('-h'))
        return { status: 0, stdout: help, stderr: '' }
      if (matching.length > 0 && words.length === 1) return { status: 2, stdout: '', stderr: help }
      throw new UsageError(`there is no command ${words.join(' ')}; there are ${namesOf(matching, commands)}`)
    }
    const rest = args.slice(command.verb === undefined ? 1 : 2)
    if (rest.includes('--help') || rest.includes('-h')) return { status: 0, stdout: manual(command), stderr: '' }
    const { json, options } = readOptions(command, rest)
    const output = 'offline' in command ? await command.run(options) : await runOnline(command, options, open)
    const stdout = json ? `${JSON.stringify(output.json)}\n` : output.text === '' ? '' : `${output.text}\n`
    const stderr = (output.warnings ?? []).map((warning) => `${warning}\n`).join('')
    return { status: output.failed ? 1 : output.conflicts ? 3 : 0, stdout, stderr }
  } catch (error) {
    if (error instanceof CommandLineError) return { status: 2, stdout: '', stderr: `${error.message}\n` }
    // The cause of an unavailable server explains more than the error that callers of the API get.
    const failure = expectedFailure(error)
    if (failure !== null) return { status: 1, stdout: '', stderr: `${failure}\n` }
    if (error instanceof CodedError) return { status: 1, stdout: '', stderr: `${error.message || error.code}\n` }
    throw error
  }
}

async function runOnline(command: Command, options: Options, open: () => Promise<AdminContext & AsyncDisposable>) {
  await using context = await open()
  return await command.run(options, context)
}

/** @throws UsageError for unknown and missing options */
function readOptions(command: AnyCommand, args: readonly string[]): { json: boolean; options: Options } {
  const types = Object.fromEntries(
    Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const { values } = parseOptions({ args: [...args], options: { ...types, json: { type: 'boolean' } }, strict: true })
  const options: Record<string, string | true | undefined> = {}
  for (const [name, value] of Object.entries(values)) {
    if (name !== 'json' && (typeof value === 'string' || value === true)) options[name] = value
  }
  for (const [name, option] of Object.entries(command.options)) {
    if (option.required && options[name] === undefined) throw new UsageError(`--${name} is missing`)
  }
  return { json: values.json === true, options }
}

/** Returns the verbs of a known noun, otherwise all nouns. */
function namesOf(matching: readonly AnyCommand[], commands: readonly AnyCommand[]): string {
  if (matching.length > 0) return matching.map(nameOf).join(', ')
  return [...new Set(commands.map(({ noun }) => noun))].join(', ')
}

const CALL = 'npm run -s admin --'

/** Nouns by topic, in the order of the help. */
export const TOPICS: Readonly<Record<string, readonly string[]>> = {
  'Start and check the installation': ['setup-link', 'demo', 'doctor', 'settings', 'openapi'],
  'People and organisations': ['user', 'contact', 'organisation'],
  'Projects and notifications': ['project', 'key', 'integration', 'policy', 'window', 'incident', 'export', 'import'],
  'On call': ['on-call', 'schedule'],
  'Move from another monitor': ['import-from'],
  'Back up and restore': ['backup', 'restore', 'log'],
  'Queues and outages': ['dead-letters', 'shards', 'broker', 'gaps'],
  'Risk signals': ['client', 'entitlement', 'webhooks', 'issuer', 'wallet-redirect'],
  'Keys of risk signals': ['token-key', 'invoice-key', 'financing-epoch'],
}

const EXAMPLES = [
  'setup-link',
  'project create --name Backups',
  'import-from healthchecks --help',
  'doctor --drill',
] as const

function overview(commands: readonly AnyCommand[]): string {
  const width = Math.max(...commands.map((command) => nameOf(command).length))
  return [
    `Usage: ${CALL} <command> [options]`,
    ...Object.entries(TOPICS).flatMap(([topic, nouns]) => [
      '',
      `${topic}:`,
      ...commandRows(
        commands.filter(({ noun }) => nouns.includes(noun)),
        width,
      ),
    ]),
    '',
    'Examples:',
    ...EXAMPLES.map((example) => `  ${CALL} ${example}`),
    '',
    'Each command has --help, and --json for output that programs read.',
    'Exit status: 0 done, 1 failed or found a problem, 2 wrong use, 3 found conflicts.',
    '',
  ].join('\n')
}

function overviewOfNoun(commands: readonly AnyCommand[]): string {
  const width = Math.max(...commands.map((command) => nameOf(command).length))
  const [{ noun } = { noun: '' }] = commands
  return [
    `Usage: ${CALL} ${noun} <command> [options]`,
    '',
    ...commandRows(commands, width),
    '',
    'Examples:',
    ...commands.flatMap(examplesOf),
    '',
  ].join('\n')
}

function commandRows(commands: readonly AnyCommand[], width: number): string[] {
  return commands.map((command) => `  ${nameOf(command).padEnd(width)}  ${command.summary}`)
}

function examplesOf(command: AnyCommand): string[] {
  const examples = command.examples ?? [usageOf(command)]
  return examples.map((example) => `  ${CALL} ${example}`)
}

/** Returns the command with its required options. */
function usageOf(command: AnyCommand): string {
  const required = Object.entries(command.options).filter(([, option]) => option.required)
  return [nameOf(command), ...required.map(([name, { value }]) => `--${name} ${value}`)].join(' ')
}

function manual(command: AnyCommand): string {
  const rows = [
    ...Object.entries(command.options).map(
      ([name, { value, description, required }]) =>
        [
          `--${name}${value === undefined ? '' : ` ${value}`}`,
          `${description}${required ? ' (required)' : ''}`,
        ] as const,
    ),
    ['--json', 'print JSON'] as const,
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return [
    `Usage: ${CALL} ${usageOf(command)} [options]`,
    '',
    `${command.summary}.`,
    '',
    ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`),
    ...(command.help === undefined ? [] : ['', ...command.help]),
    ...(command.examples === undefined ? [] : ['', 'Examples:', ...examplesOf(command)]),
    '',
  ].join('\n')
}

function nameOf({ noun, verb }: AnyCommand): string {
  return verb === undefined ? noun : `${noun} ${verb}`
}
