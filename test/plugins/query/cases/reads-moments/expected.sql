select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", case when t1."moments" is not null then array(select coalesce(to_char(e at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), e::text) from unnest(t1."moments") e) end as "moments" from "public"."thing" t1 order by t1."id" limit 100) r
-- []
