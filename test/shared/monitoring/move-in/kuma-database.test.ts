import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { readUptimeKuma } from '#shared/monitoring/move-in/kuma-store.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const folder = temporaryFolder('kuma')

test('monitors and tags of an Uptime Kuma database are read', async (t) => {
  const file = join(folder, 'kuma.db')
  const database = new DatabaseSync(file)
  database.exec(`
    CREATE TABLE monitor (id INTEGER PRIMARY KEY, name TEXT, active BOOLEAN, interval INTEGER, type TEXT,
      maxretries INTEGER, retry_interval INTEGER, upside_down BOOLEAN, description TEXT, push_token TEXT);
    CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY, monitor_id INTEGER, tag_id INTEGER, value TEXT);
    INSERT INTO monitor VALUES (7, 'Backup', 1, 3600, 'push', 2, 120, 0, NULL, 'token'), (8, 'Web', 0, 60, 'http', 0, 60, 1, 'x', NULL);
    INSERT INTO tag VALUES (1, 'prod'), (2, 'site');
    INSERT INTO monitor_tag VALUES (1, 7, 1, ''), (2, 7, 2, 'fra')`)
  database.close()
  t.deepEqual(await readUptimeKuma(file), [
    {
      ...{ id: 7, type: 'push', name: 'Backup', description: '', interval: 3600, maxRetries: 2, retryInterval: 120 },
      ...{ isUpsideDown: false, isActive: true, pushToken: 'token', tags: ['prod', 'site:fra'] },
    },
    {
      ...{ id: 8, type: 'http', name: 'Web', description: 'x', interval: 60, maxRetries: 0, retryInterval: 60 },
      ...{ isUpsideDown: true, isActive: false, pushToken: '', tags: [] },
    },
  ])
})

test('a file that is not an Uptime Kuma database is refused', async (t) => {
  const [broken, other] = [join(folder, 'broken.db'), join(folder, 'other.db')]
  writeFileSync(broken, 'SQLite format 3\0nothing')
  new DatabaseSync(other).exec('CREATE TABLE monitor (id INTEGER)')
  for (const file of [broken, other]) {
    await t.throwsAsync(readUptimeKuma(file), { message: 'the file is not a database of Uptime Kuma' }, file)
  }
})
