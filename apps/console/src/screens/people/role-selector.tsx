import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { asFailure, listOf } from '../../api';
import { combinationsOf, selectorIn, selectorText } from '../../parts/labels';
import { count, sentence } from '../../parts/words';
import { TextField, useTyped } from '../../ui';

/** Of a selector; the API refuses more. */
const MAX_COMBINATIONS = 50;

/** The field `resourceSelector`, and how many resources it fits. */
export function SelectorField({ now }: { now: Record<string, string[]> | null }) {
  const [text, setText] = useState(selectorText(now));
  const selector = selectorIn(useTyped(text));
  const combinations = selector === null ? [] : combinationsOf(selector).slice(0, MAX_COMBINATIONS);
  const found = useQueries({
    queries: combinations.map((label) => listOf('/api/v1/resources', { query: { label, size: 1 } })),
  });
  const failure = found.find(({ error }) => error)?.error;
  const isKnown = found.every(({ data }) => data);
  const total = found.reduce((sum, { data }) => sum + (data?.total ?? 0), 0);
  const fits = failure
    ? sentence(asFailure(failure).message)
    : isKnown
      ? `Fits ${count(total, 'resource')} now.`
      : 'Counting…';
  return (
    <TextField
      name="resourceSelector"
      label="Resources by labels"
      required={false}
      placeholder="env=prod, env=staging, team=web"
      value={text}
      onChange={({ target }) => setText(target.value)}
      help={
        selector === null ? (
          'All resources with these labels, also those that get them later. Several values of one label are alternatives.'
        ) : (
          <span role="status">{fits}</span>
        )
      }
    />
  );
}
