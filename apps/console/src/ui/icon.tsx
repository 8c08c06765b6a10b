const PATHS = {
  menu: 'M4 6h16M4 12h16M4 18h16',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  warning: 'M12 4 2.8 20h18.4L12 4zm0 6v4.5m0 2.8v.2',
  info: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zm0 8v6m0-9.2v.2',
} as const;

/** A line drawing beside a text that says the same. */
export const Icon = ({ name }: { readonly name: keyof typeof PATHS }) => (
  <svg width="18" height="18" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path
      d={PATHS[name]}
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);
