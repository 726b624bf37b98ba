import type { Request, Response } from 'express'
import { failMonitoring } from '../errors.ts'
import type { Dialect } from '../route.ts'

/** How the monitoring API speaks: CORS on every answer, 405 without `Allow`, errors as `{"error": text}`. */
export const monitoringDialect: Dialect = {
  prepare(_request: Request, response: Response, methods: readonly string[]) {
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Allow-Headers', 'X-Api-Key')
    response.setHeader('Access-Control-Allow-Methods', [...methods, 'OPTIONS'].join(', '))
    response.setHeader('Access-Control-Max-Age', '600')
  },
  refuseMethod(request: Request, response: Response) {
    response.status(request.method === 'OPTIONS' ? 204 : 405).end()
  },
  fail: failMonitoring,
}
