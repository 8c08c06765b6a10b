declare const organizationBrand: unique symbol;

/** An organization somebody has proved to belong to. A plain string is none: stores take only this. */
export type OrganizationId = string & { readonly [organizationBrand]: true };

/** To be called only where identity was proved (a token, a key, a row of that organization). */
export const asOrganizationId = (text: string): OrganizationId => text as OrganizationId;
