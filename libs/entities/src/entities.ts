/** Every table: what these files export besides is not one. */
export * from './access-request.entity';
export * from './agent.entity';
export * from './audit-record.entity';
export * from './billing.entity';
export * from './identity-key.entity';
export * from './lockdown.entity';
export * from './notice.entity';
export * from './oidc.entity';
export * from './organization.entity';
export * from './resource.entity';
export * from './role.entity';
export * from './session.entity';
export * from './sign-in.entity';
export * from './sso.entity';
export * from './target.entity';
export * from './user.entity';
export * from './webhook.entity';
