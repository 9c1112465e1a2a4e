select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select case when isfinite(t1."a_name_that_is_as_long_as_postgresql_permits_names_to_be_63_byt") then extract(year from t1."a_name_that_is_as_long_as_postgresql_permits_names_to_be_63_byt" at time zone 'UTC')::int end as "y" from "public"."awkward" t1 order by t1."id" limit 100) r
-- []
