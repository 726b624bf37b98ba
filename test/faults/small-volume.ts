import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mustRun } from '../../stack/run-command.ts'
import { serviceUser } from '../../stack/service-user.ts'

/** A small file system that a test can fill. */
export interface SmallVolume extends AsyncDisposable {
  folder: string
  /** folder on the volume for the data of a server */
  inner: string
  fill(): void
  free(): void
}

/** Creates a small volume. Needs root or sudo. */
export async function smallVolume(megabytes: number, server: 'postgres' | 'rabbitmq'): Promise<SmallVolume> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-volume-'))
  const { uid, gid } = (await serviceUser(server)) ?? { uid: process.getuid?.(), gid: process.getgid?.() }
  const options = `size=${megabytes}m,mode=700,uid=${uid},gid=${gid}`
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '--non-interactive']
  await mustRun([...asRoot, 'mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  const filler = join(folder, 'filler')
  const inner = join(folder, 'inner')
  return {
    folder,
    inner,
    fill() {
      const file = openSync(filler, 'w')
      try {
        for (;;) writeSync(file, Buffer.alloc(64 * 1024))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(filler),
    async [Symbol.asyncDispose]() {
      await mustRun([...asRoot, 'umount', '--lazy', folder])
      rmSync(folder, { recursive: true })
    },
  }
}
