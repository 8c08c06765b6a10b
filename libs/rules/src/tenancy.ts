declare const organizationBrand: unique symbol;

/** Id of an authenticated organization. Stores accept this branded type only. */
export type OrganizationId = string & { readonly [organizationBrand]: true };

/** Call it only where the organization is authenticated (a token, a key, a row of that organization). */
export const asOrganizationId = (text: string): OrganizationId => text as OrganizationId;
