import test from 'ava'
import { stateDays } from '#shared/monitoring/operations/uptime.ts'
import { query } from '#shared/platform/database/sql.ts'
import { openProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { addFlip, addOldCheck, micros, october, since } from './stated.ts'

const CHECKS = 100
/** Size limits per check and day, and per change of status (docs/spec/alerting.md#daily-statements). */
const QUIET_BYTES = 500
const CHANGE_BYTES = 60

/** Changes of status on a day: none (the usual case), one, or an outage. */
for (const flips of [0, 1, 2]) {
  const most = QUIET_BYTES + flips * CHANGE_BYTES
  test(`a day with ${flips} changes takes at most ${most} bytes per check and one log entry`, async (t) => {
    await using app = await openProduct({ listener: 'http', workers: [] })
    const { project } = await addProject(app.deps)
    for (let n = 0; n < CHECKS; n++) {
      const { id } = await addOldCheck(app, project.id, `nightly backup ${n}`)
      if (flips > 0) await addFlip(app, id, october(2, 3), 'up', 'down')
      if (flips > 1) await addFlip(app, id, october(2, 4), 'down', 'up')
    }
    await since(app, project.id, october(2))
    while ((await stateDays(app.db, micros(october(4)))) > 0);
    // Size of rows on their pages with line pointers, after compression, without indexes.
    const [size] = await query<{ records: number; statements: number; count: number; entries: number }>(
      app.db,
      `SELECT (SELECT sum(pg_column_size(r.*) + 4) FROM uptime_statement_records r) AS records,
              (SELECT sum(pg_column_size(s.*) + 4) FROM uptime_statements s) AS statements,
              (SELECT count(*) FROM uptime_statement_records) AS count, (SELECT count(*) FROM log_entries) AS entries`,
    )
    if (!size) return t.fail()
    const days = size.count / CHECKS
    t.is(size.entries, days, 'one entry per project and day')
    const bytes = Math.round((size.records + size.statements) / size.count)
    t.log(`${bytes} bytes per check and day, ${Math.round(size.statements / size.count)} of them in the statement`)
    t.true(bytes <= most, `${bytes} bytes per check and day`)
  })
}
