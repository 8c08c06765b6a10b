import { useMe } from '../layout/me';
import { unbroken } from '../ui';
import { Lines, Reason } from './words';

/**
 * What the message of any provider names, as they have no codes in common; what that means; and what an administrator can
 * do, if it does not pass.
 */
const MEANINGS: readonly (readonly [named: RegExp, means: string, remedy?: string])[] = [
  [
    /throttl|RequestLimitExceeded|too many requests|rate.?limit|timed? ?out|in time\b|unavailable|no response/i,
    'The provider did not do it in time.',
  ],
  [
    /limit|quota|maximum|exceed|\bfull\b|payment.?required/i,
    'The target is full: the provider takes no more rules on it.',
    'Remove rules that are not needed, or raise the limit at the provider.',
  ],
  [
    /denied|forbidden|not.?authorized|unauthorized|permission|auth|credential|token/i,
    'The provider does not let Drawbridge change the target.',
    'Verify the resource and its credential: both pages name what is missing.',
  ],
  [
    /not.?found|not exist|no such/i,
    'The provider does not know the target.',
    'Correct it in the settings of the resource.',
  ],
];

/** A provider's message: what it means, what to do, and its own text. */
export function ProviderMessage({ of }: { readonly of: string }) {
  const me = useMe().data;
  const [, means, remedy] = MEANINGS.find(([named]) => named.test(of)) ?? [];
  if (means === undefined || me === undefined) return <Reason isBad>{of}</Reason>;
  const advice = me.isOrgAdmin ? remedy : `Tell an administrator of ${me.organization.name}.`;
  return (
    <Lines>
      <Reason isBad>
        {means} {remedy && advice} Then try again.
      </Reason>
      <Reason>The provider says: {unbroken(of)}</Reason>
    </Lines>
  );
}
