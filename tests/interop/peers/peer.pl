# Drives a Perl client, named by the first argument, by lines on its standard input; src/peer.rs has the language.

use strict;
use warnings;
use JSON::PP;

$| = 1;
my %modules = (fast => 'Cache::Memcached::Fast', classic => 'Cache::Memcached');
my $module = $modules{ $ARGV[0] };
eval "require $module" or die $@;
my $json = JSON::PP->new->canonical->allow_nonref;

sub unhex { $_[0] eq '-' ? '' : pack 'H*', $_[0] }
sub tohex { $_[0] eq '' ? '-' : unpack 'H*', $_[0] }

# Perl has strings, numbers that become strings, and references.
sub value_of {
    my ($kind, $data) = @_;
    return undef if $kind eq 'null';
    return unpack 'd>', $data if $kind eq 'float';
    return $json->decode($data) if $kind eq 'json';
    return $data if $kind =~ /^(int|text|bytes)$/;
    die "Perl has no $kind\n";
}

sub answer_of {
    my ($value) = @_;
    return 'null -' unless defined $value;
    return 'json ' . tohex($json->encode($value)) if ref $value;
    return 'string ' . tohex($value);
}

# Options are those of the module; servers come with their weights.
sub open_client {
    my (@servers, %options);
    for (@_) {
        my ($name, $value) = split /=/, $_, 2;
        if ($name eq 'server') {
            my ($host, $port, $weight) = split /:/, $value;
            push @servers,
                $ARGV[0] eq 'fast'
                ? { address => "$host:$port", weight => $weight }
                : $weight == 1 ? "$host:$port" : [ "$host:$port", $weight ];
        } else {
            $options{$name} = $value;
        }
    }
    return $module->new({ servers => \@servers, %options });
}

sub perform {
    my ($client, $verb, @words) = @_;
    if ($verb eq 'set') {
        my ($key, $kind, $data, $seconds) = @words;
        return $client->set(unhex($key), value_of($kind, unhex($data)), $seconds) ? 'ok' : 'no';
    }
    if ($verb eq 'get') {
        my $key = unhex($words[0]);
        my $value = $client->get($key);
        return 'miss' if !defined $value && !%{ $client->get_multi($key) };
        return answer_of($value);
    }
    if ($verb eq 'many') {
        my $found = $client->get_multi(map { unhex($_) } @words);
        return join ' ', 'found', map { tohex($_) . ' ' . answer_of($found->{$_}) } keys %$found;
    }
    if ($verb eq 'incr') {
        my $count = $client->incr(unhex($words[0]), $words[1]);
        return $count ? 'count ' . ($count + 0) : 'miss';
    }
    die "unknown verb $verb\n";
}

my $client;
while (my $line = <STDIN>) {
    my ($verb, @words) = split ' ', $line;
    my $answer = eval {
        if ($verb eq 'version') {
            return "version $module " . $module->VERSION . ", Perl $^V";
        } elsif ($verb eq 'open') {
            $client = open_client(@words);
            return 'ok';
        }
        return perform($client, $verb, @words);
    };
    $answer = 'error ' . join ' ', split ' ', $@ unless defined $answer;
    print "$answer\n";
}
