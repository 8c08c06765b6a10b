import type { ComponentProps } from 'react';
import { useAll, type Schemas } from '../api';
import { Loaded, SelectField } from '../ui';

interface UserFieldProps extends Omit<ComponentProps<typeof SelectField>, 'options'> {
  /** the text of no choice */
  readonly none: string;
  readonly isOffered?: (user: Schemas['UserDto']) => boolean;
}

/** One of the active people. */
export const UserField = ({ none, isOffered = () => true, ...field }: UserFieldProps) => (
  <Loaded query={useAll('/api/v1/users', { isService: false, isActive: true })}>
    {(all) => {
      const offered = all.filter(isOffered).map(({ id, name, email }) => [id, `${name} (${email})`] as const);
      return <SelectField {...field} options={[['', none], ...offered]} />;
    }}
  </Loaded>
);
