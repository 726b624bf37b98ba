import { mailDue } from '#shared/contracts/mail-due.ts'
import { takeDueMails } from '#shared/tenancy/mails/store.ts'
import type { Sweep } from '../sweep.ts'

const PAGE = 500

/** Sends mails round again that are due: retries whose time has come, and those whose mailer died. */
export const dueMails: Sweep = {
  name: 'due-mails',
  everySeconds: 1,
  async run({ deps }) {
    for (let taken = PAGE; taken === PAGE; ) {
      taken = await deps.outbox.run(async (tx, enqueue) => {
        const ids = await takeDueMails(tx, PAGE)
        for (const mailId of ids) await enqueue(mailDue, { mailId })
        return ids.length
      })
    }
  },
}
