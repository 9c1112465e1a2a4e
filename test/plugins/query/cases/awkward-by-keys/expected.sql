select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", t1."key" as "key", coalesce(to_char(t1."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), t1."at"::text) as "at", t1."t1" as "t1", t1."r" as "r" from unnest($1::int8[]) with ordinality t2(key, at) join "public"."awkward" t1 on t1."id" = t2.key order by t2.at) r
-- [[2,1]]
