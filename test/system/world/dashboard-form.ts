import type { Dashboard } from '@grafana/schema'

/** As in JSON, where the members of an enumeration are plain texts. */
type Written<T> = T extends string
  ? `${T}`
  : T extends object
    ? { [Key in keyof T]: Written<T[Key]> }
    : T

/** The JSON of a dashboard. */
export type WrittenDashboard = Written<Dashboard>
