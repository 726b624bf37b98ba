import type { Route } from '../route.ts'
import { fetchRequestRoute, readRequestRoute } from './requests.ts'
import { postResponseRoute } from './responses.ts'

/** What wallets speak with. */
export const walletRoutes: readonly Route[] = [readRequestRoute, fetchRequestRoute, postResponseRoute]
