export * from './issuer-checks';
export * from './issuer-claims';
export * from './issuer-client';
export * from './issuer-failure';
