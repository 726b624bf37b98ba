import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import type { TrustedIssuer } from '#shared/risk/credentials/trusted-issuer.ts'
import { IssuerBody } from '#shared/risk/identity/issuer-requests.ts'
import { deleteIssuer, listIssuers } from '#shared/risk/identity/issuer-store.ts'
import { trustIssuer } from '#shared/risk/operations/issuers.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import { EmptyCard } from '../../lists/empty-card.tsx'
import type { Column } from '../../lists/list.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendList } from '../console.tsx'
import { evidenceForm, jsonOf, listOf } from '../evidence/form.tsx'
import { change, common, idIn, ownerOf } from './change.ts'
import { Lists } from './parts.tsx'

const ISSUERS = '/identity/issuers'
const TRUST = 'Trust an issuer'

/** Includes issuers that the operator trusts for all organisations. */
export function issuerPages(pages: Pages): void {
  pages.get(CONSOLE + ISSUERS, showIssuers)
  issuerForms(pages)
}

async function showIssuers(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { env, organisationId } = console
  const [own, operators] = await Promise.all([
    listIssuers(context.deps.db, { organisationId, env }),
    listIssuers(context.deps.db, { organisationId: null, env }),
  ])
  sendList(context, console, {
    title: 'Issuers',
    area: 'identity',
    path: ISSUERS,
    actions: own.length + operators.length > 0 ? [['/trust', TRUST]] : [],
    intro: <Lists console={console} current="/issuers" />,
    columns: issuerColumns(console),
    rows: [...own, ...operators],
    variant: 'wide-table stacked',
    empty: (
      <EmptyCard
        title="No trusted issuers yet"
        action={mayIn(console, 'edit') ? { label: TRUST, href: `${console.base}${ISSUERS}/trust` } : null}
      >
        <p>
          Credentials of a wallet count only if you trust their issuer.
          {env === 'SANDBOX' && ' The issuer of the sandbox is trusted without an entry.'}
        </p>
      </EmptyCard>
    ),
  })
}

function issuerColumns(console: Console): Column<TrustedIssuer>[] {
  const mayChange = (issuer: TrustedIssuer) => !issuer.isOperators && mayIn(console, 'edit')
  return [
    { title: 'Issuer', variant: 'breakable', cell: ({ iss }) => iss },
    {
      title: 'Credential types',
      variant: 'breakable',
      isLabelled: true,
      cell: ({ vctValues }) => vctValues.join(', '),
    },
    { title: 'Keys from', isLabelled: true, cell: (issuer) => sourcesOf(issuer).join(', ') },
    {
      title: 'Trusted by',
      isLabelled: true,
      cell: ({ isOperators }) => (isOperators ? 'the operator, for all organisations' : 'you'),
    },
    { title: 'Assurance', isLabelled: true, cell: ({ assurance }) => words(assurance) },
    {
      title: 'Change',
      cell: (issuer) =>
        mayChange(issuer) ? <a href={`${console.base}${ISSUERS}/${issuer.id}/distrust`}>Distrust</a> : '—',
    },
  ]
}

function sourcesOf({ keys, caCertificates, hasMetadata }: TrustedIssuer): string[] {
  return [
    ...(keys.length > 0 ? ['its key set'] : []),
    ...(caCertificates.length > 0 ? ['its certificate authority'] : []),
    ...(hasMetadata ? ['its metadata'] : []),
  ]
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g
const certificatesOf = (text: string) => text.match(PEM) ?? [text]

function issuerForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: `${ISSUERS}/trust`,
    title: TRUST,
    cancel: () => ISSUERS,
    intro: 'Its credentials then count for your organisation only.',
    button: 'Trust the issuer',
    fields: [
      {
        name: 'iss',
        label: 'Issuer',
        hint: 'its URL as in its credentials, for example https://issuer.example',
        isRequired: true,
      },
      {
        name: 'vctValues',
        label: 'Credential types',
        kind: 'lines',
        hint: 'the vct of each, one per line, for example urn:eudi:pid:1',
        isRequired: true,
        parse: listOf,
      },
      {
        legend: 'Keys: at least one source',
        items: [
          { name: 'issuerMetadata', label: 'Read them from the metadata of the issuer', kind: 'check' },
          { name: 'jwks', label: 'Key set', kind: 'lines', hint: 'JWKS, as JSON', isMono: true, parse: jsonOf },
          {
            name: 'caCertificates',
            label: 'Certificate authority',
            kind: 'lines',
            hint: 'certificates in PEM',
            isMono: true,
            parse: certificatesOf,
          },
        ],
      },
      {
        summary: 'More options',
        items: [
          { name: 'statusHosts', label: 'Hosts of its status lists', hint: 'default: its own host', parse: listOf },
        ],
      },
    ],
    schema: IssuerBody,
    submit: async (sent) =>
      await change(sent, 'issuer.trusted', async (tx) => {
        const { id } = await trustIssuer(tx, ownerOf(sent), sent.body, sent.context.deps)
        return { next: ISSUERS, target: id }
      }),
  })
  evidenceForm(pages, {
    ...common,
    path: `${ISSUERS}/:issuer/distrust`,
    title: 'Distrust an issuer',
    cancel: () => ISSUERS,
    intro: 'Its credentials are refused from now on. Earlier verifications stay unchanged.',
    button: 'Distrust the issuer',
    fields: [],
    schema: z.strictObject({}),
    async submit(sent) {
      const id = idIn(sent, 'issuer')
      return await change(sent, 'issuer.distrusted', async (tx) => {
        if (!(await deleteIssuer(tx, ownerOf(sent), id))) throw new NotFoundError('There is no such issuer.')
        return { next: ISSUERS, target: id }
      })
    },
  })
}
