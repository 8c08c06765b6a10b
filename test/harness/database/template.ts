/** The database every clone is made from: it holds the schema and no rows. */
export const TEMPLATE = 'template_drawbridge';

/** The same database for the role that API and workers connect with. */
export function serviceUrlOf(url: string): string {
  return Object.assign(new URL(url), { username: 'drawbridge_service', password: 'service-of-a-test' }).href;
}
