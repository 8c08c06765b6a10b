import { CloudError } from '../cloud-error';
import type { CallModifiers, Refusal } from '../faults/serve-call';
import { cutPage } from '../paging';
import type { CloudRequest, World } from '../provider';
import { ACCOUNT_ID } from './credentials';
import type { Json, JsonCall, JsonService } from './json-endpoint';
import type { SignedCall } from './signature';

const MAX_RESULTS = 20;
const EMPTY = 'empty.';

/** AWS Organizations: the list of accounts, for its management account only. Every full page is followed by an empty one. */
export class Organizations implements JsonService {
  readonly service = 'organizations';

  constructor(private readonly world: World) {}

  read({ headers, body }: CloudRequest): JsonCall | null {
    if (headers['x-amz-target'] !== 'AWSOrganizationsV20161128.ListAccounts') return null;
    return {
      operation: 'ListAccounts',
      effect: 'check',
      arn: null,
      target: null,
      body: JSON.parse(body) as Json,
    };
  }

  admit(_: JsonCall, { caller, region }: SignedCall): void {
    if (region !== 'us-east-1') throw new CloudError(400, 'InvalidSignatureException', 'Wrong region');
    if (caller.account !== ACCOUNT_ID)
      throw new CloudError(
        400,
        'AccessDeniedException',
        "You don't have permissions to access this resource.",
      );
  }

  perform({ body }: JsonCall, _how: CallModifiers): Json {
    const { MaxResults: size = MAX_RESULTS, NextToken: token = '' } = body;
    if (typeof size !== 'number' || size < 1 || size > MAX_RESULTS) throw invalid('MaxResults');
    if (typeof token !== 'string') throw invalid('NextToken');
    if (token.startsWith(EMPTY)) return { Accounts: [], NextToken: token.slice(EMPTY.length) };
    const accounts = this.world.accounts
      .list('AWS')
      .toSorted((one, other) => (one.account < other.account ? -1 : 1));
    const page = cutPage(accounts, ({ account }) => account, token, size);
    if (!page) throw invalid('NextToken');
    const items = page.items.map(({ account: Id, name: Name, state }, index) => ({
      Id,
      Name,
      Arn: `arn:aws:organizations::${ACCOUNT_ID}:account/o-simulated/${Id}`,
      // both are in use while AWS replaces the one by the other
      ...(index % 2 === 0 ? { State: state } : { Status: state }),
    }));
    return { Accounts: items, ...(page.next !== undefined && { NextToken: EMPTY + page.next }) };
  }

  refusal(why: Refusal): CloudError {
    return why === 'throttle'
      ? new CloudError(400, 'TooManyRequestsException', 'Rate exceeded')
      : new CloudError(500, 'ServiceException', 'An internal error has occurred');
  }
}

const invalid = (field: string): CloudError =>
  new CloudError(400, 'InvalidInputException', `You specified an invalid value for ${field}.`);
