import { taskRunner } from '#shared/platform/process/thread-tasks.ts'
import type { PackPdfInput } from '#shared/risk/packs/pdf/render.ts'
import type { Site, StoredPasskey } from '#shared/tenancy/accounts/passkey.ts'

/** Tasks outside the event loop of the ingress. A thread imports only modules that its task needs. */
export const tasks = {
  packMailText: async (input: { raw: Uint8Array; carriedBytes: number }) => {
    const { packMailText } = await import('#shared/monitoring/pings/mail-text.ts')
    return await packMailText(input)
  },
  readMail: async (bytes: Uint8Array) => {
    const { readMail } = await import('#shared/monitoring/pings/mail-text.ts')
    return await readMail(bytes)
  },
  showMail: async (bytes: Uint8Array) => {
    const { showMail } = await import('../web/monitoring/checks/shown-mail.ts')
    return await showMail(bytes)
  },
  readVerifyBody: async (bytes: Uint8Array) => {
    const { readVerifyBody } = await import('./read-verify-body.ts')
    return readVerifyBody(bytes)
  },
  renderPackPdf: async (input: PackPdfInput) => {
    const { renderPackPdf } = await import('#shared/risk/packs/pdf/render.ts')
    return await renderPackPdf(input)
  },
  verifyPasskeyAnswer: async (input: { site: Site; challenge: string; answer: string; passkey: StoredPasskey }) => {
    const { verifyAsserted } = await import('#shared/tenancy/accounts/verify-passkey.ts')
    return await verifyAsserted(input.site, input.challenge, input.answer, input.passkey)
  },
  verifyPasskeyMade: async (input: { site: Site; challenge: string; answer: string }) => {
    const { verifyCreated } = await import('#shared/tenancy/accounts/verify-passkey.ts')
    return await verifyCreated(input.site, input.challenge, input.answer)
  },
} as const

export const run = taskRunner(tasks)
