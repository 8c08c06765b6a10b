import { Injectable } from '@nestjs/common';
import {
  AccountStore,
  AuditStore,
  Database,
  type AuditEventType,
  type Tx,
  type UserProfileRow,
} from '#entities';
import type { Principal } from '#guards';
import { hashPassword, verifyPassword } from '#secrets';
import { auditActor } from '../audit/audit-actor';
import { badRequest, unauthorized, type ApiError } from '../errors';
import type { LoginDto, RegisterDto } from './dto/credentials.dto';
import { principalOf } from './stored-principals';
import { TokenService, type TokenPair } from './token.service';

/** Each costs a password comparison; anybody may register organizations with somebody else's e-mail. */
const MOST_ACCOUNTS_TRIED = 10;

interface Account {
  readonly userId: string;
  readonly organizationId: string;
}

/** Registers organizations and signs people in. */
@Injectable()
export class AuthService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly audit: AuditStore,
    private readonly tokens: TokenService,
  ) {}

  /** A new organization with its first admin, signed in. */
  async register(asked: RegisterDto, callerAddress: string | null): Promise<TokenPair> {
    const { organizationName, email } = asked;
    const passwordHash = await hashPassword(asked.password);
    const name = asked.name ?? email.slice(0, email.indexOf('@'));
    return this.database.transaction(async (tx) => {
      const account = await this.accounts.registerOrganization(tx, {
        organizationName,
        email,
        passwordHash,
        name,
      });
      return this.signIn(tx, account, 'ORGANIZATION_REGISTERED', callerAddress);
    });
  }

  /**
   * @throws ApiError 401, the same for an unknown e-mail, a wrong password and an inactive user, after the same work;
   *   400 when the organization must be named
   */
  async login(asked: LoginDto, callerAddress: string | null): Promise<TokenPair> {
    const account = await this.accountOf(asked);
    return this.database.transaction((tx) => this.signIn(tx, account, 'USER_LOGIN', callerAddress));
  }

  /** What `GET /auth/me` shows beside the principal. */
  async profile(principal: Principal): Promise<UserProfileRow> {
    const { userId, organizationId } = principal;
    const profile = await this.accounts.profileOfUser(this.database.autocommit, userId, organizationId);
    // deleted between the guard's look and this one
    if (!profile) throw unauthorized('The access token is invalid or expired');
    return profile;
  }

  private async accountOf({ email, password, organizationSlug }: LoginDto): Promise<Account> {
    const slug = organizationSlug?.toLowerCase() ?? null;
    const candidates = await this.accounts.loginCandidates(this.database.autocommit, email, slug);
    if (candidates.length > MOST_ACCOUNTS_TRIED) throw organizationNeeded();
    const tried = candidates.length > 0 ? candidates : [{ passwordHash: null, isActive: false }];
    const right = await Promise.all(tried.map(({ passwordHash }) => verifyPassword(password, passwordHash)));
    const fitting = candidates.filter(({ isActive }, index) => isActive && right[index]);
    if (fitting.length > 1) throw organizationNeeded();
    const [account] = fitting;
    if (!account) throw wrongCredentials();
    return account;
  }

  private async signIn(
    tx: Tx,
    account: Account,
    eventType: AuditEventType,
    callerAddress: string | null,
  ): Promise<TokenPair> {
    await this.accounts.recordLogin(tx, account.userId);
    const row = await this.accounts.principalOfUser(tx, account.userId, account.organizationId);
    const principal = principalOf(row);
    // deactivated or deleted between the comparison and now
    if (!principal) throw wrongCredentials();
    await this.audit.write(tx, principal.organizationId, {
      ...auditActor(principal, callerAddress),
      eventType,
      resourceType: eventType === 'USER_LOGIN' ? 'USER' : 'ORGANIZATION',
      resourceId: eventType === 'USER_LOGIN' ? principal.userId : principal.organizationId,
      resourceName: eventType === 'USER_LOGIN' ? principal.email : principal.organizationName,
    });
    return this.tokens.issue(tx, principal);
  }
}

const wrongCredentials = (): ApiError => unauthorized('The e-mail address or the password is wrong');

const organizationNeeded = (): ApiError =>
  badRequest('Several organizations know this account: name one with organizationSlug', {
    organizationSlug: 'organizationSlug is needed for this account',
  });
