import { z } from 'zod'
import { MISSING_REASONS } from './connector.ts'
import { AccountsAnswer } from './http/accounts.ts'
import { CompanyAnswer, PersonAnswer, PersonSearchBody } from './http/companies.ts'
import { ExportCertificateAnswer, ExporterCodeAnswer, ShippingBillAnswer } from './http/foreign-trade.ts'
import { GatewayProblem } from './http/gateway.ts'
import { GroupAnswer } from './http/groups.ts'
import { InvoiceActionAnswer } from './http/invoice-actions.ts'
import { RegistryCompanyAnswer } from './http/registry-companies.ts'
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
  optionalQuery?: Record<string, object>
  /** parts of the path in braces */
  pathParameters?: readonly string[]
  isConsentBound?: boolean
  body?: z.ZodType
  answer: z.ZodType
}

const operations: Operation[] = [
  {
    method: 'get',
    path: '/returns/trade',
    id: 'getTradeReturns',
    summary: 'Reports of one supplier about one recipient',
    description:
      'Rows of Table 4 (b2b), its amendments (b2ba) and notes (cdnr) of the filed periods, in the member names of the return. `statement` is GSTR1 for rows of the supplier’s return and GSTR2B for rows of the recipient’s statement. A period that is not filed is listed as NOT_FILED, one that cannot be obtained as NOT_OBTAINABLE; both mean missing, not zero. `sections` names the sections that the source has; without `cdnr` and `b2ba` the dilution is missing, not zero.',
    query: { supplierGstin: text, recipientGstin: text, from: month, to: month },
    isConsentBound: true,
    answer: TradeReturnsAnswer,
  },
  {
    method: 'get',
    path: '/invoice-actions',
    id: 'getInvoiceAction',
    summary: 'Action of a buyer on a document',
    description: 'The action in the invoice-management system of the tax network; 404 without a record.',
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
    pathParameters: ['gstin'],
    answer: TaxpayerAnswer,
  },
  {
    method: 'get',
    path: '/companies',
    id: 'getCompany',
    summary: 'Company master data by PAN',
    description:
      'Addresses, accounts, phones and e-mail addresses are sent only as a hash of their normalised form. An absent list means that there are none; `notCompared` names the kinds that the source cannot show. `cin` is sent if the request has a company number.',
    query: { pan: text },
    optionalQuery: { cin: text },
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
    description: 'An empty list means that no interest is registered. Holders appear by kind, never by name.',
    body: SecuritySearchBody,
    answer: SecuritySearchAnswer,
  },
  {
    method: 'post',
    path: '/searches/persons',
    id: 'searchPersons',
    summary: 'Status of an identifier of a person or business',
    description:
      'PAN or CKYC. `status` is ACTIVE or the reason why it is not; names are not sent. 404 without a record.',
    isConsentBound: true,
    body: PersonSearchBody,
    answer: PersonAnswer,
  },
  {
    method: 'get',
    path: '/accounts/deposits',
    id: 'getDeposits',
    summary: 'Deposit accounts under an account-aggregator consent',
    description:
      'Deposit data, decrypted by the gateway. The member names are those of this contract, after ReBIT 1.x; a gateway maps the names of 2.0.0 (`accountSubType`, `transactionalBalance`).',
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
    pathParameters: ['iec'],
    answer: ExporterCodeAnswer,
  },
  {
    method: 'get',
    path: '/export-certificates',
    id: 'getExportCertificate',
    summary: 'A bank-realisation certificate',
    description:
      '`remittance` is the bank’s message; `shippingBill` is the bill that the exporter assigned to the certificate. A certificate may be cancelled later.',
    query: { iec: text, brcNumber: text },
    answer: ExportCertificateAnswer,
  },
  {
    method: 'get',
    path: '/shipping-bills',
    id: 'getShippingBill',
    summary: 'A shipping bill of customs',
    description: 'Customs number bills per day and port. `fobInr` is its free-on-board value in rupees.',
    query: { iec: text, number: text, date: day, portCode: text },
    answer: ShippingBillAnswer,
  },
  {
    method: 'get',
    path: '/groups',
    id: 'getGroup',
    summary: 'Accounting parents of a company',
    description:
      'The direct and the ultimate accounting parent as the register of legal entity identifiers has them, or the reason of the company for none. A parent is no share of capital.',
    query: { cin: text },
    answer: GroupAnswer,
  },
  {
    method: 'get',
    path: '/registry-companies/{authority}/{number}',
    id: 'getRegistryCompany',
    summary: 'A company of a register outside India',
    description:
      '`authority` is the code of the register in the list of registration authorities of GLEIF. `heldBy` are corporate holders; null if the register has none on record. A verification by LEI queries it.',
    pathParameters: ['authority', 'number'],
    answer: RegistryCompanyAnswer,
  },
]

/** Uses the schemas that parse the gateway's responses. */
export function gatewayOpenapi(): Record<string, unknown> {
  const paths = Object.fromEntries(operations.map((entry) => [entry.path, { [entry.method]: operationOf(entry) }]))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Registry gateway',
      version: '1.0.0',
      description:
        'The interface that Signalbox requires of a gateway in front of the registries. Amounts are rupees, as numbers or decimal strings with at most two decimals. Unknown members are ignored; `environment` marks data of a provider’s test environment, which is read as UNPARSEABLE. A consent handle may name several taxpayers: `consents.gst` of a pack serves borrower and subcontractor.',
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
    ...(entry.pathParameters ?? []).map((name) => named('path', name, text)),
    ...Object.entries(entry.query ?? {}).map(([name, schema]) => named('query', name, schema)),
    ...Object.entries(entry.optionalQuery ?? {}).map(([name, schema]) => ({ name, in: 'query', schema })),
    { ...named('header', 'x-request-id', text), description: 'equal for each retry of a request' },
    {
      ...named('header', 'x-organisation', text),
      required: false,
      description: 'opaque and stable; a gateway binds a consent handle to the first organisation that uses it',
    },
    ...(entry.isConsentBound ? [named('header', 'x-consent-handle', text)] : []),
  ]
  return {
    operationId: entry.id,
    summary: entry.summary,
    description: entry.description,
    parameters,
    ...(entry.body ? { requestBody: { required: true, content: json(schemaOf(entry.body)) } } : {}),
    responses: {
      200: { description: 'OK', content: json(schemaOf(entry.answer)) },
      '4XX': {
        description: `no data; \`code\` is the reason: ${MISSING_REASONS.join(', ')}`,
        content: json({ $ref: '#/components/schemas/Problem' }),
      },
      '5XX': { description: 'the registry failed; the request is retried at most twice' },
    },
  }
}

function json(schema: object): object {
  return { 'application/json': { schema } }
}

// Uses the input side: the form that a gateway sends, before the conversion to paise and dates.
function schemaOf(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', override: dropFormatPattern })
  return rest
}

// A format is more readable than its regular expression.
function dropFormatPattern({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
}
