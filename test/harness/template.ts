/** The database every clone is made from: it holds the schema and no rows. */
export const TEMPLATE = 'template_drawbridge';
