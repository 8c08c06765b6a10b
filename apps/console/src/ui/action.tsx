import { useMutation } from '@tanstack/react-query';
import { Button, type ButtonKind } from './button';
import { announce } from './announcement';
import { Problem } from './status';

interface ActionProps {
  readonly label: string;
  readonly kind?: ButtonKind;
  readonly large?: boolean;
  /** what the button says while it waits */
  readonly busy?: string;
  readonly act: () => Promise<unknown>;
  readonly onDone?: () => void;
  /** what it has done; null: the screen shows it; left out: that it is done */
  readonly announcement?: string | null;
}

/** A button that sends one request at once. A refusal appears below it. */
export function Action({ label, busy = 'One moment…', act, onDone, announcement, ...look }: ActionProps) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: act,
    onMutate: () => announce(null),
    onSuccess: () => {
      announce(announcement === undefined ? `${label}: done.` : announcement);
      onDone?.();
    },
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
