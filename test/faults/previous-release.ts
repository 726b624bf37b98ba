import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mustRun, runCommand } from '../../stack/run-command.ts'
import { root } from '../support/imports.ts'

/**
 * Unpacks the release before this one into a temporary folder, with the packages of this one: the newest tag, or without
 * tags the newest commit that has the same schema, or the commit before a new migration.
 * @returns null if the history is missing, for example in a shallow clone
 */
export async function previousRelease(): Promise<({ folder: string } & AsyncDisposable) | null> {
  const commit = (await tagged()) ?? (await beforeNewestMigration())
  if (commit === null) return null
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-previous-'))
  const archive = join(folder, 'release.tar')
  await mustRun(['git', 'archive', '--format=tar', `--output=${archive}`, commit], { cwd: root })
  await mustRun(['tar', '-xf', archive, '-C', folder], {})
  rmSync(archive)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const tagged = () => git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD')

async function beforeNewestMigration(): Promise<string | null> {
  const newest = await git('log', '-1', '--format=%H', '--', 'migrations')
  if (newest === null) return null
  // Before the first release a migration may be edited. Only builds that have the edit share the schema with this one.
  const edited = await git('diff', '--name-only', '--diff-filter=a', `${newest}^`, newest, '--', 'migrations')
  return edited === null ? await git('rev-parse', '--verify', '--quiet', `${newest}^`) : newest
}

async function git(...args: string[]): Promise<string | null> {
  const { code, stdout } = await runCommand(['git', ...args], { cwd: root })
  return code === 0 && stdout.trim() !== '' ? stdout.trim() : null
}
