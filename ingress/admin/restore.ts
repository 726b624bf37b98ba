import { acceptRestore, readInstallation } from '#shared/platform/database/restore-mark-store.ts'
import { restoreMarkFile } from '#shared/platform/process/restore-mark-file.ts'
import { toIsoSeconds } from '#shared/time.ts'
import { type Command, type Finding, findingLines } from './command.ts'
import { databaseFindings } from './database-findings.ts'
import { logRefusals } from './transparency-log.ts'

const verify: Command = {
  noun: 'restore',
  verb: 'verify',
  summary: 'Verify a restored database; with --apply, allow it to send again',
  help: [
    'Processes that detect a restored database send nothing: no alerts, mails, webhooks or checkpoints. Run this, read',
    'the findings, then run it with --apply: sending starts within seconds, due steps of incidents after 15 minutes.',
    'Alerts and mails that are older than the restore are not sent.',
  ],
  options: { apply: { description: 'allow sending if no finding is WRONG' } },
  async run(options, { db, secrets, config }) {
    const stored = await databaseFindings(db, secrets)
    // Alerts must not wait for the decision about a log.
    const refusals = stored.every(({ ok }) => ok) ? await logRefusals({ db, config }) : []
    const findings: Finding[] = [
      ...stored,
      ...refusals.map((text) => ({ what: 'transparency log', ok: true, isRisk: true, text })),
    ]
    const isHealthy = findings.every(({ ok }) => ok)
    const { id, restoredFrom } = isHealthy ? await readInstallation(db) : { id: '', restoredFrom: null }
    const restoredTo = restoredFrom === null ? null : toIsoSeconds(restoredFrom)
    let suppressed = null
    if (isHealthy && options.apply && restoredFrom !== null) {
      // With the marks of the lost database in the file, the restored one would be detected again.
      await restoreMarkFile(config.checkpointDir, id).write([])
      suppressed = await acceptRestore(db)
    }
    const text = [
      ...findingLines(findings),
      ...(isHealthy
        ? [
            restoredTo === null
              ? 'this database is not known as restored'
              : `restored: its newest data is of ${restoredTo}`,
          ]
        : ['correct the WRONG findings, then run this again']),
      ...(suppressed
        ? [
            `not sent, because they are older than the restore: ${suppressed.notifications} notifications, ${suppressed.flips} status changes, ${suppressed.mails} mails`,
            'sending is allowed',
          ]
        : []),
      ...(isHealthy && restoredTo !== null && !suppressed
        ? ['sending is not allowed yet: run this again with --apply']
        : []),
    ]
    return {
      json: { healthy: isHealthy, findings, restoredFrom: restoredTo, suppressed },
      text: text.join('\n'),
      failed: !isHealthy,
    }
  },
}

export const restoreCommands: readonly Command[] = [verify]
