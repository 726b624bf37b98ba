/**
 * State letters of company numbers. The registrar publishes no complete list. A number keeps the letters of the year of
 * its registration, so old and new codes of a state are both in use.
 */
const CIN_STATES_BY_SOURCE = {
  // Seen in published company numbers. TZ is the registrar in Coimbatore, DN and DD are territories merged in 2020.
  published:
    'AN AP AR AS BR CH CT DD DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OR PB PY RJ SK TG TN TR TZ UP UR UT WB',
  // Seen in company numbers since about 2022: Telangana, Odisha, Chhattisgarh. Also ISO 3166-2:IN since 2023.
  since2022: 'TS OD CG',
  // ISO 3166-2:IN, newsletters of 2020 and 2023: Uttarakhand; Dadra and Nagar Haveli and Daman and Diu. Numbers of 2024
  // in Uttarakhand still have UT. Both are accepted, because only the registrar knows if it has adopted them.
  iso3166: 'UK DH',
}

export const cinStates: ReadonlySet<string> = new Set(
  Object.values(CIN_STATES_BY_SOURCE).flatMap((codes) => codes.split(' ')),
)

/** Classes of companies, as the registrar explains them. */
const CIN_CLASSES: Readonly<Record<string, string>> = {
  FLC: 'financial lease company, public',
  FTC: 'subsidiary of a foreign company, private',
  GAP: 'general association, public',
  GAT: 'general association, private',
  GOI: 'company of the Government of India',
  NPL: 'company not for profit, section 8',
  OPC: 'one person company',
  PLC: 'public limited company',
  PTC: 'private limited company, producer companies included',
  SGC: 'company of a state government',
  ULL: 'unlimited company, public',
  ULT: 'unlimited company, private',
}

export const cinClasses: ReadonlySet<string> = new Set(Object.keys(CIN_CLASSES))
