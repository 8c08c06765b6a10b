export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly isService: boolean;
  readonly isOrgAdmin: boolean;
  readonly isActive: boolean;
  readonly status: string;
  readonly invitedAt: string | null;
  readonly mfaEnabled: boolean;
  readonly roleNames: string[];
  readonly lastLoginAt: string | null;
  readonly invitationUrl?: string | null;
}

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly maxSessionDurationHours: number;
  readonly resourceIds: string[];
  readonly userIds: string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly keyPrefix: string;
  readonly scopes: string[];
  readonly agents: string[];
  readonly isRevoked: boolean;
  readonly revokedAt: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly lastUsedIp: string | null;
  readonly createdByEmail: string;
  readonly userId: string;
  readonly userEmail: string;
  readonly createdAt: string;
  readonly plainTextKey: string;
}
