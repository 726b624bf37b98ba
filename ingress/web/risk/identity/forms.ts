import { NotConfiguredError } from '#shared/errors.ts'
import {
  IdentityVerificationBody,
  ReasonBody,
  SubjectBody,
  TransitionBody,
} from '#shared/risk/identity/identity-requests.ts'
import { RESPONSE_MODES } from '#shared/risk/identity/presentation.ts'
import { PresentationBody } from '#shared/risk/identity/requests.ts'
import { runSubjectVerification } from '#shared/risk/operations/identity-verifications.ts'
import { requestPresentation } from '#shared/risk/operations/presentations.ts'
import { createSubject, eraseSubject, moveSubject, unsealSubject } from '#shared/risk/operations/subjects.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { NotConfiguredError } from '../../../api-risk/answer.ts'
import { runJob } from '../../../api-risk/evidence-job.ts'
import { VERIFICATIONS } from '../../../api-risk/identity/verifications.ts'
import { type Pages, field } from '../../shell/context.ts'
import { codeField, evidenceForm, jsonOf, numberOf } from '../evidence/form.tsx'
import { idOf, jobContext, note } from '../evidence/job-context.ts'
import { change, common, idIn, ownerOf, pageOf, REASON } from './change.ts'
import { consentForms, passportForms } from './record-forms.ts'

const SUBJECT = '/identity/subjects/:subject'

/** Forms about identities. */
export function identityForms(pages: Pages): void {
  jobForms(pages)
  verifyForm(pages)
  subjectForms(pages)
  consentForms(pages)
  passportForms(pages)
}

function jobForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/ask',
    title: 'Ask a wallet',
    intro:
      'The request is valid for five minutes; its page shows the QR code. Default query: legal name and GSTIN of a company.',
    button: 'Ask',
    fields: [
      { name: 'purpose', label: 'Purpose', isRequired: true, demo: 'opening an account' },
      { name: 'query', label: 'Query', kind: 'lines', hint: 'DCQL, as JSON', parse: jsonOf },
      { name: 'responseMode', label: 'Answer', kind: 'select', options: modes, value: 'direct_post.jwt' },
      { name: 'retainHours', label: 'Keep values for hours', kind: 'number', value: '24' },
      { name: 'subjectId', label: 'Subject', isMono: true },
      { name: 'dealId', label: 'Deal', hint: 'your own number for it' },
    ],
    schema: PresentationBody,
    complete: (body) => ('query' in body ? body : { ...body, template: 'company-basic' }),
    async submit(sent) {
      const { context, console, body } = sent
      const { config, risk } = context.deps
      const signer = await risk.requestSigner(console.env)
      if (!signer) throw new NotConfiguredError('requests to wallets are not configured')
      return await change(sent, 'presentation.requested', async (tx, deps) => {
        const given = { ...deps, clientId: signer.clientId, publicUrl: config.publicUrl }
        const { presentationId } = await requestPresentation(tx, ownerOf(sent), body, given)
        return { next: `/identity/presentations/${presentationId}`, target: presentationId }
      })
    },
  })
}

const modes = RESPONSE_MODES.map((value) => ({ value, label: value.endsWith('jwt') ? 'encrypted' : 'in the clear' }))

/** Members of a verification, by its method. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  PRESENTATION: ['presentationId'],
  DOCUMENT: ['documentSha256', 'signature'],
  REGISTRY: ['registry', 'identifier', 'consentId', 'purpose'],
}

function verifyForm(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/verify`,
    title: 'Verify',
    intro: 'Fill in what your method needs. A registry is queried about a person only with a live consent.',
    button: 'Verify',
    fields: [
      codeField('method', 'Method', Object.keys(MEMBERS), 'PRESENTATION'),
      { name: 'presentationId', label: 'Presentation', isMono: true },
      codeField('registry', 'Registry', ['PAN', 'CKYC'], 'PAN'),
      { name: 'identifier', label: 'Identifier there', isMono: true },
      { name: 'consentId', label: 'Consent', isMono: true },
      { name: 'purpose', label: 'Purpose', hint: 'that of the consent; default: identity verification' },
      { name: 'documentSha256', label: 'SHA-256 of a document', isMono: true },
      { name: 'signature', label: 'Its signature', kind: 'lines', hint: 'a compact JWS' },
    ],
    schema: IdentityVerificationBody,
    complete(body) {
      const names = ['method', ...(MEMBERS[String(body.method)] ?? [])]
      return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)))
    },
    async submit(sent) {
      const subjectId = idIn(sent, 'subject')
      const answer = await runSubjectVerification(jobContext(sent), subjectId, sent.body, (tx) =>
        note(tx, sent.context, sent.console, 'subject.verified', subjectId),
      )
      return `/identity/verifications/${idOf(answer, 'verificationId')}`
    },
  })
}

function subjectForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/subjects/add',
    title: 'Add a subject',
    button: 'Add',
    fields: [
      { name: 'externalRef', label: 'Your reference', hint: 'sealed, and shown by the API alone', isRequired: true },
      codeField('kind', 'Kind', SubjectBody.shape.kind.options, 'PERSON'),
    ],
    schema: SubjectBody,
    submit: async (sent) =>
      await change(sent, 'subject.created', async (tx, deps) =>
        pageOf((await createSubject(tx, ownerOf(sent), sent.body, deps)).subjectId),
      ),
  })
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/move`,
    title: 'State',
    intro: 'The code is anchored, the reason is not.',
    button: 'Move',
    fields: [
      codeField('to', 'To', TransitionBody.shape.to.options, 'SUSPENDED'),
      REASON,
      { name: 'reasonCode', label: 'Code', isMono: true, hint: 'capitals, digits and _' },
    ],
    schema: TransitionBody,
    async submit(sent) {
      const id = idIn(sent, 'subject')
      const { to, reason, reasonCode } = sent.body
      return await change(sent, 'subject.moved', async (tx, deps) => {
        const subject = await unsealSubject(tx, ownerOf(sent), id)
        await moveSubject(tx, subject, to, { by: 'CALLER', reasonCode, reason }, deps)
        return pageOf(id)
      })
    },
  })
  evidenceForm(pages, {
    ...common,
    path: `${SUBJECT}/erase`,
    title: 'Erase a subject',
    intro:
      'Values, salts, your reference and reasons are deleted; passports are revoked. Anchored hashes stay, without any readable value.',
    button: 'Erase for good',
    confirm: 'Erase this subject for good? Deleted data cannot be restored.',
    fields: [REASON],
    schema: ReasonBody,
    async submit(sent) {
      const id = idIn(sent, 'subject')
      return await change(sent, 'subject.erased', async (tx, deps) => {
        await eraseSubject(tx, ownerOf(sent), id, deps)
        return pageOf(id)
      })
    },
  })
}
