import { acceptRestore, readInstallation } from '#shared/platform/database/restore-mark-store.ts'
import { restoreMarkFile } from '#shared/platform/process/restore-mark-file.ts'
import { toIsoSeconds } from '#shared/time.ts'
import type { Command, Finding } from './command.ts'
import { databaseFindings } from './database-findings.ts'

const verify: Command = {
  noun: 'restore',
  verb: 'verify',
  summary: 'Verify a restored database, and let alerts, mails and webhooks out of it again',
  help: [
    'Processes notice that their database was restored and send nothing. First read the output, then run it with',
    '--apply: alerts and mails that were due before the restore are not sent, and the gate opens within seconds.',
  ],
  options: { apply: { description: 'open the gate when everything is well' } },
  async run(given, { db, secrets, config }) {
    const findings: Finding[] = await databaseFindings(db, secrets)
    const isWell = findings.every(({ ok }) => ok)
    const { id, restoredFrom } = isWell ? await readInstallation(db) : { id: '', restoredFrom: null }
    const at = restoredFrom === null ? null : toIsoSeconds(restoredFrom)
    let suppressed = null
    if (isWell && given.apply && restoredFrom !== null) {
      // The existing marks belong to the lost database; the restored one writes new marks.
      await restoreMarkFile(config.checkpointDir, id).write([])
      suppressed = await acceptRestore(db)
    }
    const text = [
      ...findings.map(({ what, ok, text }) => `${ok ? 'ok   ' : 'WRONG'}  ${what}: ${text}`),
      at === null ? 'no process has found that this database was restored' : `restored from ${at}`,
      ...(suppressed
        ? [
            `not sent any more: ${suppressed.notifications} notifications, ${suppressed.flips} changes, ${suppressed.mails} mails`,
            'the gate is open',
          ]
        : []),
      ...(isWell && at !== null && !suppressed ? ['nothing goes out until this is run with --apply'] : []),
    ]
    return { json: { healthy: isWell, findings, restoredFrom: at, suppressed }, text: text.join('\n'), failed: !isWell }
  },
}

export const restoreCommands: readonly Command[] = [verify]
