import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/** Named JSON values that survive a restart. */
export interface Store {
  read(name: string): unknown
  write(name: string, value: unknown): void
  remove(name: string): void
  names(): string[]
}

/** The state folder cannot be used. */
export class StateError extends Error {}

/** Derives a key for one purpose from GATEWAY_KEY. */
export function derivedKey(gatewayKey: Buffer, purpose: 'state' | 'hashes' | 'notifications'): Buffer {
  return Buffer.from(hkdfSync('sha256', gatewayKey, '', `registry-gateway ${purpose}`, 32))
}

const SUFFIX = '.sealed'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Opens a folder of sealed files, one for each value. A second process on the same folder is refused.
 * @throws StateError if the folder is in use, or was sealed with another key
 */
export function openStore(folder: string, key: Buffer): Store & Disposable {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const release = lockFolder(folder)
  const fileOf = (name: string) => join(folder, `${name}${SUFFIX}`)
  const names = () =>
    readdirSync(folder)
      .filter((file) => file.endsWith(SUFFIX))
      .map((file) => file.slice(0, -SUFFIX.length))
  const store: Store = {
    names,
    read(name) {
      if (!names().includes(name)) return undefined
      return JSON.parse(unsealed(key, name, readFileSync(fileOf(name))).toString('utf8'))
    },
    write(name, value) {
      const temporary = join(folder, `${name}.new`)
      const file = openSync(temporary, 'w', 0o600)
      try {
        writeSync(file, sealed(key, name, Buffer.from(JSON.stringify(value))))
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      renameSync(temporary, fileOf(name))
      syncFolder(folder)
    },
    remove(name) {
      rmSync(fileOf(name), { force: true })
      syncFolder(folder)
    },
  }
  try {
    for (const name of names()) store.read(name)
  } catch (error) {
    release()
    throw new StateError(`GATEWAY_STATE ${folder} cannot be read with this GATEWAY_KEY`, { cause: error })
  }
  return { ...store, [Symbol.dispose]: release }
}

/** Keeps the values in memory, for commands that need no state. */
export function memoryStore(): Store {
  const values = new Map<string, string>()
  return {
    names: () => [...values.keys()],
    read: (name) => JSON.parse(values.get(name) ?? 'null') ?? undefined,
    write: (name, value) => values.set(name, JSON.stringify(value)),
    remove: (name) => values.delete(name),
  }
}

function sealed(key: Buffer, name: string, plain: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  // The name is authenticated, so that a file cannot be exchanged for another one.
  cipher.setAAD(Buffer.from(name))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

function unsealed(key: Buffer, name: string, bytes: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(name))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

function lockFolder(folder: string): () => void {
  const file = join(folder, 'lock')
  for (let attempt = 1; ; attempt++) {
    try {
      const lock = openSync(file, 'wx', 0o600)
      writeSync(lock, processIdentity(process.pid))
      closeSync(lock)
      return () => rmSync(file, { force: true })
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      const owner = readFileSync(file, 'utf8')
      if (attempt > 1 || isRunning(owner)) {
        const [pid] = owner.split(' ')
        throw new StateError(`GATEWAY_STATE ${folder} is in use by process ${pid}; one process per folder`)
      }
      rmSync(file, { force: true })
    }
  }
}

/** Returns id and start time of a process: in a container a restarted process often has the same id. */
function processIdentity(pid: number): string {
  try {
    // The start time is field 22; the name in field 2 may contain blanks and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return `${pid} ${stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[19]}`
  } catch {
    return `${pid}`
  }
}

function isRunning(identity: string): boolean {
  const [pid = 0, startedAt] = identity.split(' ').map(Number)
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false
  }
  const now = processIdentity(pid)
  return startedAt === undefined || !now.includes(' ') || now === identity
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
