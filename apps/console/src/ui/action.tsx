import { useMutation } from '@tanstack/react-query';
import { Button, type ButtonKind } from './button';
import { Problem } from './status';

interface ActionProps {
  readonly label: string;
  readonly kind?: ButtonKind;
  readonly large?: boolean;
  /** what the button says while it waits */
  readonly busy?: string;
  readonly act: () => Promise<unknown>;
  readonly onDone?: () => void;
}

/** A button that sends one request at once. A refusal appears below it. */
export function Action({ label, busy = 'One moment…', act, onDone, ...look }: ActionProps) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: act,
    ...(onDone ? { onSuccess: onDone } : {}),
  });
  return (
    <>
      <Button {...look} busy={isPending && busy} onClick={() => mutate()}>
        {label}
      </Button>
      {error ? <Problem error={error} /> : null}
    </>
  );
}
