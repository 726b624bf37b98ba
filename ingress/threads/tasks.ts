import { taskRunner } from '#shared/platform/process/thread-tasks.ts'
import type { PackPdfInput } from '#shared/risk/packs/pdf/render.ts'

/** What the ingress does beside its event loop. A thread loads what its tasks need: a mail does not wait for fonts. */
export const tasks = {
  packMailText: async (input: { raw: Uint8Array; carriedBytes: number }) => {
    const { packMailText } = await import('#shared/monitoring/pings/mail-text.ts')
    return await packMailText(input)
  },
  readMail: async (bytes: Uint8Array) => {
    const { readMail } = await import('#shared/monitoring/pings/mail-text.ts')
    return await readMail(bytes)
  },
  readVerifyBody: async (bytes: Uint8Array) => {
    const { readVerifyBody } = await import('../risk/anchors/read-verify-body.ts')
    return readVerifyBody(bytes)
  },
  renderPackPdf: async (input: PackPdfInput) => {
    const { renderPackPdf } = await import('#shared/risk/packs/pdf/render.ts')
    return await renderPackPdf(input)
  },
} as const

/** The entry of a thread. */
export const run = taskRunner(tasks)
