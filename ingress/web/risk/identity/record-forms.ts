import { z } from 'zod'
import { ConsentBody, IdentityPassportBody, ReasonBody } from '#shared/risk/identity/identity-requests.ts'
import { issueIdentityPassport, revokeIdentityPassport } from '#shared/risk/operations/issue-identity-passport.ts'
import { recordConsent, withdrawConsent } from '#shared/risk/operations/manage-consent.ts'
import { unsealSubject } from '#shared/risk/operations/subjects.ts'
import type { Pages } from '../../shell/context.ts'
import { evidenceForm, listOf } from '../evidence/form.tsx'
import { change, common, idIn, ownerOf, pageOf, REASON } from './change.ts'

const SUBJECT = '/identity/subjects/:subject'

/** Forms about consents. */
export function consentForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/consents/record',
    title: 'Record a consent',
    button: 'Record',
    fields: [
      { name: 'subjectId', label: 'Subject', isMono: true, isRequired: true },
      { name: 'purpose', label: 'Purpose', isRequired: true, value: 'identity verification' },
      { name: 'fields', label: 'Fields', hint: 'separated by spaces: pan ckyc', isRequired: true, parse: listOf },
      { name: 'expiresAt', label: 'Until', hint: 'YYYY-MM-DDThh:mm:ssZ', isRequired: true },
      { name: 'noticeSha256', label: 'SHA-256 of the notice', isMono: true },
      { name: 'obtainedVia', label: 'Obtained via' },
    ],
    schema: ConsentBody,
    submit: async (sent) =>
      await change(sent, 'consent.recorded', async (tx, deps) => {
        await recordConsent(tx, ownerOf(sent), sent.body, deps)
        return pageOf(sent.body.subjectId)
      }),
  })
  evidenceForm(pages, {
    ...common,
    path: '/identity/consents/:consent/withdraw',
    title: 'Withdraw a consent',
    intro: 'Data that was read under it is deleted and no longer valid.',
    button: 'Withdraw',
    fields: [],
    schema: z.strictObject({}),
    async submit(sent) {
      const id = idIn(sent, 'consent')
      return await change(sent, 'consent.withdrawn', async (tx, deps) => {
        await withdrawConsent(tx, ownerOf(sent), id, deps)
        return { next: '/identity/consents', target: id }
      })
    },
  })
}

/** Forms about passports. */
export function passportForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/passport`,
    title: 'Passport',
    intro: 'Assurance and evidence of a verified subject, without names.',
    button: 'Issue',
    fields: [
      { name: 'purpose', label: 'Purpose', isRequired: true },
      { name: 'validForDays', label: 'Valid for days', kind: 'number', value: '180' },
    ],
    schema: IdentityPassportBody,
    async submit(sent) {
      const id = idIn(sent, 'subject')
      const { risk, config } = sent.context.deps
      const signingKey = await risk.passportKey(sent.console.env)
      return await change(sent, 'identity-passport.issued', async (tx, deps) => {
        const subject = await unsealSubject(tx, ownerOf(sent), id)
        const given = { ...deps, publicUrl: config.publicUrl, signingKey }
        await issueIdentityPassport(tx, ownerOf(sent), subject, sent.body, given)
        return pageOf(id)
      })
    },
  })
  evidenceForm(pages, {
    ...common,
    path: '/identity/passports/:passport/revoke',
    title: 'Revoke a passport',
    intro: 'Its status list shows it at once.',
    button: 'Revoke',
    confirm: 'Revoke this passport for good?',
    fields: [REASON],
    schema: ReasonBody,
    async submit(sent) {
      const id = idIn(sent, 'passport')
      return await change(sent, 'identity-passport.revoked', async (tx, deps) => {
        await revokeIdentityPassport(tx, ownerOf(sent), id, sent.body.reason, deps)
        return { next: `/identity/passports/${id}`, target: id }
      })
    },
  })
}
