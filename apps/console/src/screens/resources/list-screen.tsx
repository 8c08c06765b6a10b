import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  ButtonLink,
  Empty,
  Filters,
  Loaded,
  Notice,
  Page,
  Pager,
  SearchField,
  Section,
  Table,
  type Column,
} from '../../ui';

const SIZE = 50;
/** Shorter lists are read, not searched. */
const SEARCHED_FROM = 8;

interface Props<Item> {
  readonly title: string;
  readonly lead: string;
  /** such as "credential" */
  readonly what: string;
  readonly create: '/resources/new' | '/credentials/new';
  readonly query: UseQueryResult<readonly Item[], unknown>;
  readonly columns: readonly Column<Item>[];
  /** what a search looks at */
  readonly textOf: (item: Item) => string;
  /** the search and the page of the address */
  readonly search: { readonly q?: string; readonly page?: number };
}

/** A list of everything of a kind, with a search field and pages, both part of the address. */
export function ListScreen<Item extends { readonly id: string }>(props: Props<Item>) {
  const { title, lead, what, create, query, columns, textOf } = props;
  const { q = '', page = 0 } = props.search;
  const wanted = q.trim().toLowerCase();
  const navigate = useNavigate();
  const find = (text: string): void =>
    // which of the lists it is on is not known here
    void navigate({ to: '.', search: { q: text || undefined } as never, replace: true });
  return (
    <Page title={title} lead={lead} actions={<ButtonLink to={create}>New {what}</ButtonLink>}>
      <Section>
        <Loaded query={query}>
          {(items) => {
            const found = items.filter((item) => textOf(item).toLowerCase().includes(wanted));
            return (
              <>
                {items.length >= SEARCHED_FROM || q ? (
                  <Filters>
                    <SearchField label={`Find a ${what}`} value={q} onChange={find} />
                  </Filters>
                ) : null}
                {found.length === 0 && wanted ? <Notice>Nothing contains “{q}”.</Notice> : null}
                <Table
                  caption={title}
                  rows={found.slice(page * SIZE, (page + 1) * SIZE)}
                  keyOf={({ id }) => id}
                  columns={columns}
                  empty={items.length === 0 ? <FirstRun what={what} /> : null}
                />
                <Pager page={page} size={SIZE} total={found.length} />
              </>
            );
          }}
        </Loaded>
      </Section>
    </Page>
  );
}

/** Leads from nothing to the first access. */
export const FirstRun = ({ what }: { readonly what: string }) => (
  <Empty title={`No ${what} yet`}>
    <p>The set-up leads from a credential to the first access in a minute or two.</p>
    <ButtonLink kind="primary" to="/set-up">
      Set up access
    </ButtonLink>
  </Empty>
);
