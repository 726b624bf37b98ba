import { z } from 'zod'
import { MISSING_REASONS } from './connector.ts'
import { AccountsAnswer } from './http/accounts.ts'
import { CompanyAnswer, PersonAnswer, PersonSearchBody } from './http/companies.ts'
import { ExportCertificateAnswer, ExporterCodeAnswer, ShippingBillAnswer } from './http/foreign-trade.ts'
import { GatewayProblem } from './http/gateway.ts'
import { InvoiceActionAnswer } from './http/invoice-actions.ts'
import { SecuritySearchAnswer, SecuritySearchBody } from './http/security-interests.ts'
import { OutwardSuppliesAnswer, ProvidentFundAnswer, TaxpayerAnswer } from './http/taxpayers.ts'
import { TradeReturnsAnswer } from './http/trade-returns.ts'

const text = { type: 'string' }
const month = { type: 'string', pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' }
const day = { type: 'string', format: 'date' }

interface Operation {
  method: 'get' | 'post'
  path: string
  id: string
  summary: string
  description: string
  query?: Record<string, object>
  pathParameter?: string
  isConsentBound?: boolean
  body?: z.ZodType
  answer: z.ZodType
}

const operations: Operation[] = [
  {
    method: 'get',
    path: '/returns/trade',
    id: 'getTradeReturns',
    summary: 'What one supplier reported about one recipient',
    description:
      'Rows of Table 4 (b2b), its amendments (b2ba) and notes (cdnr) of the filed periods, in the member names of the return. `statement` says whether they come from the supplier’s return (GSTR1) or the recipient’s statement (GSTR2B). A period that is not filed is listed as NOT_FILED, one that cannot be had as NOT_OBTAINABLE: neither is zero.',
    query: { supplierGstin: text, recipientGstin: text, from: month, to: month },
    isConsentBound: true,
    answer: TradeReturnsAnswer,
  },
  {
    method: 'get',
    path: '/invoice-actions',
    id: 'getInvoiceAction',
    summary: 'What a buyer did with a document',
    description: 'The action in the invoice-management system of the tax network; nothing known is 404.',
    query: { supplierGstin: text, buyerGstin: text, documentType: text, documentNumber: text, documentDate: day },
    answer: InvoiceActionAnswer,
  },
  {
    method: 'get',
    path: '/returns/outward-supplies',
    id: 'getOutwardSupplies',
    summary: 'Turnover as filed',
    description: 'Taxable plus exempt plus zero-rated supplies, in rupees, of at most the last twelve filed periods.',
    query: { gstin: text },
    isConsentBound: true,
    answer: OutwardSuppliesAnswer,
  },
  {
    method: 'get',
    path: '/taxpayers/{gstin}',
    id: 'getTaxpayer',
    summary: 'Status of a registration',
    description: 'The public taxpayer search.',
    pathParameter: 'gstin',
    answer: TaxpayerAnswer,
  },
  {
    method: 'get',
    path: '/companies',
    id: 'getCompany',
    summary: 'Company master data by PAN',
    description: 'Addresses, accounts, phones and e-mail addresses travel only as SHA-256 of their normalised form.',
    query: { pan: text },
    answer: CompanyAnswer,
  },
  {
    method: 'get',
    path: '/establishments',
    id: 'getProvidentFund',
    summary: 'Members of a provident fund in the latest wage month',
    description: 'Counts members with a contribution; no person is named.',
    query: { pan: text },
    isConsentBound: true,
    answer: ProvidentFundAnswer,
  },
  {
    method: 'post',
    path: '/searches/security-interests',
    id: 'searchSecurityInterests',
    summary: 'Registered security interests of a debtor',
    description: 'An empty list says that nothing is registered. Holders appear by kind, never by name.',
    body: SecuritySearchBody,
    answer: SecuritySearchAnswer,
  },
  {
    method: 'post',
    path: '/searches/persons',
    id: 'searchPersons',
    summary: 'Whether an identifier of a person or business is in force',
    description: 'PAN or CKYC. `status` is ACTIVE or why not; no name travels. Nothing known is 404.',
    isConsentBound: true,
    body: PersonSearchBody,
    answer: PersonAnswer,
  },
  {
    method: 'get',
    path: '/accounts/deposits',
    id: 'getDeposits',
    summary: 'Deposit accounts under an account-aggregator consent',
    description: 'Deposit data in the member names of the ReBIT schema 2.0.0, decrypted by the gateway.',
    query: { pan: text, from: day, to: day },
    isConsentBound: true,
    answer: AccountsAnswer,
  },
  {
    method: 'get',
    path: '/exporter-codes/{iec}',
    id: 'getExporterCode',
    summary: 'Holder and status of an importer-exporter code',
    description: 'The name is compared and never stored.',
    pathParameter: 'iec',
    answer: ExporterCodeAnswer,
  },
  {
    method: 'get',
    path: '/export-certificates',
    id: 'getExportCertificate',
    summary: 'A bank-realisation certificate',
    description:
      '`remittance` is the bank’s own message; `shippingBill` is what the exporter tied the certificate to. A certificate may be cancelled later.',
    query: { iec: text, brcNumber: text },
    answer: ExportCertificateAnswer,
  },
  {
    method: 'get',
    path: '/shipping-bills',
    id: 'getShippingBill',
    summary: 'A shipping bill as customs have it',
    description: 'Customs number bills per day and port. `fobInr` is its free-on-board value in rupees.',
    query: { iec: text, number: text, date: day, portCode: text },
    answer: ShippingBillAnswer,
  },
]

/** The contract that a gateway in front of the registries speaks, from the very schemas that its answers are read by. */
export function gatewayOpenapi(): Record<string, unknown> {
  const paths = Object.fromEntries(operations.map((entry) => [entry.path, { [entry.method]: operationOf(entry) }]))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Registry gateway',
      version: '1.0.0',
      description:
        'What Signalbox asks of a gateway that fronts the registries. Amounts are rupees, as numbers or decimal strings with at most two decimals. Unknown members are ignored.',
    },
    servers: [{ url: 'https://gateway.example', description: 'configured per connector' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: schemaOf(GatewayProblem) },
    },
  }
}

function operationOf(entry: Operation): object {
  const named = (place: string, name: string, schema: object) => ({ name, in: place, required: true, schema })
  const parameters = [
    ...(entry.pathParameter ? [named('path', entry.pathParameter, text)] : []),
    ...Object.entries(entry.query ?? {}).map(([name, schema]) => named('query', name, schema)),
    { ...named('header', 'x-request-id', text), description: 'repeated on a retry of the same question' },
    ...(entry.isConsentBound ? [named('header', 'x-consent-handle', text)] : []),
  ]
  return {
    operationId: entry.id,
    summary: entry.summary,
    description: entry.description,
    parameters,
    ...(entry.body ? { requestBody: { required: true, content: json(schemaOf(entry.body)) } } : {}),
    responses: {
      200: { description: 'the answer', content: json(schemaOf(entry.answer)) },
      '4XX': {
        description: `no answer; \`code\` says why: ${MISSING_REASONS.join(', ')}`,
        content: json({ $ref: '#/components/schemas/Problem' }),
      },
      '5XX': { description: 'the registry failed; the question is asked again at most twice' },
    },
  }
}

function json(schema: object): object {
  return { 'application/json': { schema } }
}

// The written form: what a gateway sends, before it is read into paise and dates.
function schemaOf(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', override: dropFormatPattern })
  return rest
}

// A format says more to a reader than the expression that checks it.
function dropFormatPattern({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
}
